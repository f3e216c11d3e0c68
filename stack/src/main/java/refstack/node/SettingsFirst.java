package refstack.node;

import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.stereotype.Component;

/** Binds every record of settings before anything else is made: none is found wrong halfway. */
@Component
class SettingsFirst implements BeanFactoryPostProcessor {

    @Override
    public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
        for (String name : beans.getBeanDefinitionNames()) {
            String type = beans.getBeanDefinition(name).getBeanClassName();
            if (name.contains("-refstack.") && name.endsWith("-" + type)) {
                beans.getBean(name);
            }
        }
    }
}
