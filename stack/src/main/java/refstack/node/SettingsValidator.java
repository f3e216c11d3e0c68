package refstack.node;

import org.springframework.stereotype.Component;
import org.springframework.validation.beanvalidation.LocalValidatorFactoryBean;

/**
 * Checks the constraints of our own records of settings. Spring Boot's way, by an annotation at each
 * record, makes a second validator beside that of the web pages, and asks for messages that are not
 * loaded yet when settings are bound first.
 */
@Component("configurationPropertiesValidator")
class SettingsValidator extends LocalValidatorFactoryBean {

    @Override
    public boolean supports(Class<?> type) {
        return type.getPackageName().startsWith("refstack.");
    }
}
