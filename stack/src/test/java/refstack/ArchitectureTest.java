package refstack;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysTrue;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Which package may know which. New packages are covered without a change here. */
class ArchitectureTest {

    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("refstack");

    @Test
    void packagesKnowTheCoreAnswersAndTransportsButNotEachOther() {
        slices().matching("refstack.(*)..").should().notDependOnEachOther()
                .ignoreDependency(alwaysTrue(),
                        resideInAnyPackage("refstack.core..", "refstack.answers..",
                                "refstack.transport.."))
                .check(CLASSES);
    }

    @Test
    void coreKnowsNoProtocolAndNoDatabase() {
        noClasses().that().resideInAPackage("refstack.core..").should().dependOnClassesThat()
                .resideInAnyPackage("refstack.answers..", "refstack.transport..",
                        "refstack.local..", "refstack.remote..", "refstack.rest..",
                        "refstack.odata..", "refstack.node..", "jakarta.servlet..", "jakarta.ws..",
                        "jakarta.jms..", "jakarta.xml..", "javax..", "java.sql..", "org.apache..",
                        "org.glassfish..", "tools.jackson..",
                        "org.springframework.web..", "org.springframework.jdbc..")
                .check(CLASSES);
    }

    @Test
    void smallMainsStayWithoutSpring() {
        noClasses().that().resideInAnyPackage("refstack.load..", "refstack.nullserver..",
                "refstack.broker")
                .should().dependOnClassesThat().resideInAPackage("org.springframework..")
                .check(CLASSES);
    }
}
